//! The little of the protobuf wire format that an OpenAPI document needs: fields that hold bytes, by number.

use anyhow::{Context, bail};

/// Wire types of the format.
const VARINT: u64 = 0;
const FIXED_64: u64 = 1;
const BYTES: u64 = 2;
const FIXED_32: u64 = 5;

/// A message: the fields that hold text or further messages, in order. Numbers are skipped.
#[derive(Clone, Copy)]
pub(super) struct Message<'a>(pub(super) &'a [u8]);

impl<'a> Message<'a> {
    /// All values of one field.
    pub(super) fn all(self, number: u64) -> anyhow::Result<Vec<&'a [u8]>> {
        let mut found = Vec::new();
        let mut rest = self.0;
        while !rest.is_empty() {
            let tag = varint(&mut rest)?;
            match tag & 7 {
                VARINT => {
                    varint(&mut rest)?;
                }
                FIXED_64 => {
                    take(&mut rest, 8)?;
                }
                FIXED_32 => {
                    take(&mut rest, 4)?;
                }
                BYTES => {
                    let length = usize::try_from(varint(&mut rest)?)?;
                    let bytes = take(&mut rest, length)?;
                    if tag >> 3 == number {
                        found.push(bytes);
                    }
                }
                other => bail!("wire type {other} is not one that is written any more"),
            }
        }
        Ok(found)
    }

    /// The last value of a field, as the format wants it.
    pub(super) fn one(self, number: u64) -> anyhow::Result<Option<&'a [u8]>> {
        Ok(self.all(number)?.pop())
    }

    /// A message inside this one.
    pub(super) fn message(self, number: u64) -> anyhow::Result<Option<Message<'a>>> {
        Ok(self.one(number)?.map(Message))
    }

    /// The messages of a field that is a list.
    pub(super) fn messages(self, number: u64) -> anyhow::Result<Vec<Message<'a>>> {
        Ok(self.all(number)?.into_iter().map(Message).collect())
    }

    /// A text; empty where there is none.
    pub(super) fn text(self, number: u64) -> anyhow::Result<&'a str> {
        std::str::from_utf8(self.one(number)?.unwrap_or_default()).context("text that is not UTF-8")
    }
}

fn take<'a>(rest: &mut &'a [u8], length: usize) -> anyhow::Result<&'a [u8]> {
    let (taken, after) = rest.split_at_checked(length).context("the message ends too early")?;
    *rest = after;
    Ok(taken)
}

fn varint(rest: &mut &[u8]) -> anyhow::Result<u64> {
    let mut value = 0_u64;
    for shift in (0..64).step_by(7) {
        let byte = take(rest, 1)?[0];
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Ok(value);
        }
    }
    bail!("a number of more than 64 bits")
}

#[cfg(test)]
mod tests {
    use super::Message;

    #[test]
    fn fields_are_found_by_number_and_numbers_are_skipped() {
        // 1: 300; 2: "ab"; 2: "c"; 3: a message whose field 1 is "x".
        let bytes = [8, 0xac, 2, 0x12, 2, b'a', b'b', 0x12, 1, b'c', 0x1a, 3, 0x0a, 1, b'x'];
        let message = Message(&bytes);
        assert_eq!(message.all(2).expect("two"), [&b"ab"[..], b"c"]);
        let inner = message.message(3).expect("valid").expect("there");
        assert_eq!(inner.text(1).expect("text"), "x");
        assert!(Message(&[0x12, 9]).all(1).is_err());
    }
}
