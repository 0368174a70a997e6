// What every view may reach without being handed it: the transport, navigation, and this tab's own small memory.

/** Set once by app.js. */
export const app = {
  /** The state of the last paint; views get it as a property and read it here only in event handlers. */
  state: null,
  /** Asks for the newest board now. */
  refresh() {},
  /** Draws again after a change of something that is no component's own state. */
  paint() {},
  /** Opens a route; `replace` leaves no history entry. */
  go() {},
  /** What the open project adds to the More menu: a component taking `state`, set by its view. */
  menu: null,
};

/** Which disclosures, groups and lists the reader opened: key → open. Lives as long as the tab. */
export const opened = new Map();
