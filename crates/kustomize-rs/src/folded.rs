//! Folded text (`>`). The reference writes an object out once and reads it back before it prints it, in the style that it
//! was written in, and its writer of folded text is not exact: that shows in lines that are indented further.

/// What is left of a folded text after that.
pub(crate) fn written_and_read(text: &str) -> String {
    if !text.contains('\n') { text.to_owned() } else { read(&written(text), text) }
}

fn is_blank(character: Option<char>) -> bool {
    matches!(character, Some(' ' | '\t'))
}

/// The lines that are written.
fn written(text: &str) -> String {
    // Before an empty line, the writer looks at the beginning of the whole text where it means the next line.
    let start = text.trim_start_matches('\n').chars().next();
    let doubles = !(start.is_none() || is_blank(start));
    let mut out = String::with_capacity(text.len() + 8);
    let (mut breaks, mut indented) = (true, true);
    for character in text.chars() {
        if character == '\n' {
            if !breaks && !indented && doubles {
                out.push('\n');
            }
            out.push('\n');
            breaks = true;
        } else {
            if breaks {
                indented = is_blank(Some(character));
            }
            out.push(character);
            breaks = false;
        }
    }
    out
}

/// The lines read back; `original` says what is done with the line breaks at the end.
fn read(lines: &str, original: &str) -> String {
    let mut out = String::with_capacity(lines.len());
    let body = lines.trim_end_matches('\n');
    let (mut was_indented, mut first, mut empty) = (false, true, 0_usize);
    for line in body.split('\n') {
        if line.is_empty() {
            empty += 1;
            continue;
        }
        let indented = is_blank(line.chars().next());
        if !first {
            if was_indented || indented {
                out.push('\n');
            } else if empty == 0 {
                out.push(' ');
            }
        }
        out.extend(std::iter::repeat_n('\n', empty));
        out.push_str(line);
        (was_indented, first, empty) = (indented, false, 0);
    }
    let ends = original.len() - original.trim_end_matches('\n').len();
    match ends {
        0 => {}
        1 => out.push('\n'),
        _ => out.push_str(&lines[body.len()..]),
    }
    out
}

#[cfg(test)]
mod tests {
    use super::written_and_read;

    #[test]
    fn only_lines_that_are_indented_further_get_an_empty_line_before_them() {
        for (text, expected) in [
            ("a b\n", "a b\n"),
            ("a\nb\n", "a\nb\n"),
            ("a\n\nb", "a\n\nb"),
            ("a\n b\nc", "a\n\n b\nc"),
            ("a\n\n  - b\n  - c\n", "a\n\n\n  - b\n  - c\n"),
            (" a\nb\nc", " a\nb c"),
        ] {
            assert_eq!(written_and_read(text), expected, "{text:?}");
        }
    }
}
