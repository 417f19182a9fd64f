//! Behaviour of common denominators, case by case and over made-up schemas and real ones.

mod cases;
mod corpus;
mod property;
