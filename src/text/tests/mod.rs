//! Tests of the text rules; key material is invented filler throughout.

mod labels;
mod oracle;
mod prompts;
mod records;
mod redaction;
mod safety;

/// Expands the notation of the fixture: `«X*n»` is X repeated n times, `␀` is U+0000, `␤` a line feed.
fn expand(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((head, tail)) = rest.split_once('«') {
        let (spec, behind) = tail.split_once('»').expect("closed");
        let (what, times) = spec.rsplit_once('*').expect("a count");
        out.push_str(head);
        out.push_str(&what.repeat(times.parse().expect("a number")));
        rest = behind;
    }
    out.push_str(rest);
    out.replace('␀', "\0").replace('␤', "\n")
}

/// One row of the example table, expanded.
struct Row {
    number: String,
    input: String,
    limit: usize,
    result: String,
    length: usize,
}

fn table() -> Vec<Row> {
    let text = include_str!("../../../fixtures/text/redaction.tsv");
    let rows = text.lines().filter(|line| !line.starts_with('#')).map(|line| {
        let cells: Vec<&str> = line.split('\t').collect();
        let [number, input, limit, result, length] = cells[..] else { panic!("five columns: {line}") };
        Row {
            number: number.into(),
            input: expand(input),
            limit: limit.parse().expect("a limit"),
            result: expand(result),
            length: length.parse().expect("a length"),
        }
    });
    rows.collect()
}
