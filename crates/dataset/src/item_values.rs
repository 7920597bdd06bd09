//! Rows of tables as JSON.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type, Int32Type, Int64Type, TimestampMicrosecondType};
use arrow_array::{Array, RecordBatch};
use arrow_schema::DataType;
use serde_json::{Map, Value};
use weburl::UrlKey;

/// A row of a table by column: numbers, truth values, lists and objects as in JSON, keys in hexadecimal digits,
/// dates as RFC 3339. Nulls are there as well.
#[must_use]
pub fn item_values(batch: &RecordBatch, row: usize) -> Map<String, Value> {
    let schema = batch.schema();
    let values = batch.columns().iter().map(|column| value(column, row));
    schema.fields().iter().map(|field| field.name().clone()).zip(values).collect()
}

fn value(column: &dyn Array, row: usize) -> Value {
    if column.is_null(row) {
        return Value::Null;
    }
    match column.data_type() {
        DataType::Utf8 => column.as_string::<i32>().value(row).into(),
        DataType::Int32 => column.as_primitive::<Int32Type>().value(row).into(),
        DataType::Int64 => column.as_primitive::<Int64Type>().value(row).into(),
        DataType::Float32 => column.as_primitive::<Float32Type>().value(row).into(),
        DataType::Float64 => column.as_primitive::<Float64Type>().value(row).into(),
        DataType::Boolean => column.as_boolean().value(row).into(),
        DataType::Timestamp(..) => {
            rules::rfc3339_exact(column.as_primitive::<TimestampMicrosecondType>().value(row)).into()
        }
        DataType::FixedSizeBinary(_) => {
            let key = column.as_fixed_size_binary().value(row).try_into().ok().map(UrlKey::from_bytes);
            key.map_or(Value::Null, |key| key.to_string().into())
        }
        DataType::List(_) => {
            let list = column.as_list::<i32>().value(row);
            (0..list.len()).map(|at| value(&list, at)).collect()
        }
        DataType::Struct(fields) => {
            let inner = column.as_struct().columns().iter().map(|column| value(column, row));
            fields.iter().map(|field| field.name().clone()).zip(inner).collect::<Map<_, _>>().into()
        }
        // No table has others.
        _ => Value::Null,
    }
}
