//! Writes an answer as dense text for models.

use serde_json::Value;

/// The answer as dense text.
pub fn render(value: &Value) -> String {
    value.to_string()
}
