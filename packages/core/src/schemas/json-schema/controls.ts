import { type Control, type Described, type JsonValue, rowsAtFirst } from './control.ts'
import { References } from './references.ts'
import { shapeOf } from './shapes.ts'
import { isJson, type Json } from './walk.ts'

/** Maximum number of fields that open at once. A part with more of them, such as one that has to contain itself, is JSON. */
const maxFields = 2_000
/** Maximum number of levels that open at once. */
const maxLevels = 16
/** Maximum depth of a form, with all that a person opens. Deeper parts are JSON. */
const maxDepth = 64

/** Returns the control of a JSON Schema. What no control can express is JSON. */
export function controlOf(schema: unknown): Control {
  return new Form(schema).whole()
}

/** Returns the control of one property of an object schema, or null if the schema does not describe it. */
export function propertyControl(schema: unknown, name: string): Control | null {
  return new Form(schema).property(name)
}

/** Makes the controls of the parts of one JSON Schema. */
class Form {
  readonly #schema: unknown
  readonly #references: References

  constructor(schema: unknown) {
    this.#schema = schema
    this.#references = new References(schema)
  }

  whole(): Control {
    return this.#buildBounded(this.#schema, 0)
  }

  property(name: string): Control | null {
    const properties = this.#references.follow(this.#schema)?.['properties']
    return isJson(properties) && Object.hasOwn(properties, name)
      ? this.#buildBounded(properties[name], 0)
      : null
  }

  /** Builds a control that is opened by itself: all that opens with it is counted. */
  #buildBounded(given: unknown, depth: number): Control {
    const control = this.#build(given, depth)
    if (fieldsLeft(control, maxFields) >= 0) return control
    return { ...(control.schema === undefined ? {} : describe(control.schema)), kind: 'json' }
  }

  #build(given: unknown, depth: number): Control {
    const schema = depth > maxDepth ? undefined : this.#references.follow(given)
    if (schema === undefined) return { kind: 'json' }
    const shape = shapeOf(schema, {
      follow: (part) => this.#references.follow(part),
      atOnce: (part) => memo(() => this.#build(part, depth + 1)),
      onDemand: (part) => memo(() => this.#buildBounded(part, depth + 1)),
    })
    return { ...describe(schema), ...shape }
  }
}

/** Subtracts the fields that open with a control. Stops below 0, and at the deepest level, since a schema can be recursive. */
function fieldsLeft(control: Control, left: number, level = 0): number {
  if (level > maxLevels) return -1
  const subtract = (rest: number, part: () => Control): number =>
    rest < 0 ? rest : fieldsLeft(part(), rest, level + 1)
  switch (control.kind) {
    case 'object': {
      const opened = control.fields.filter((field) => field.isOpened)
      const closed = control.fields.length - opened.length
      return opened.map((field) => field.control).reduce(subtract, left - 1 - closed)
    }
    case 'tuple':
      return control.items.reduce(subtract, left - 1)
    case 'list':
      return Array.from({ length: rowsAtFirst(control) }, () => control.item).reduce(subtract, left - 1)
    default:
      return left - 1
  }
}

function describe(schema: Json): Described {
  const { title, description, default: initial } = schema
  return {
    schema,
    ...(typeof title === 'string' ? { title } : {}),
    ...(typeof description === 'string' ? { description } : {}),
    ...(initial === undefined ? {} : { initial: initial as JsonValue }),
  }
}

function memo<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}
