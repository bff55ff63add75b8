// What forms are drawn from a JSON Schema, for the other packages of this repository. No part of it knows Node: the inbox bundles it.

export {
  type Control,
  type Field,
  isNested,
  type JsonValue,
  type Option,
  rowsAtFirst,
  type Variant,
} from './schemas/json-schema/control.ts'
export { controlOf, propertyControl } from './schemas/json-schema/controls.ts'
export { controlOfValue } from './schemas/json-schema/value-control.ts'
