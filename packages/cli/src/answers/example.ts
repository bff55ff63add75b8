import { type Control, controlOf, type Field } from '@pawl/core/json-schema'

/** Maximum depth of an example: a schema can contain itself. */
const maxDepth = 5
/** Maximum number of parts of an example: a schema can contain itself many times. */
const maxParts = 200

/** Returns a value that roughly matches a JSON Schema, with the required parts only. Text is `...`. */
export function exampleOf(schema: unknown): unknown {
  return new Example().of(controlOf(schema), [])
}

class Example {
  #partsLeft = maxParts

  /** `above` are the controls that contain this one. */
  of(control: Control, above: readonly Control[]): unknown {
    this.#partsLeft -= 1
    if (above.length > maxDepth || this.#partsLeft < 0) return '...'
    if (control.initial !== undefined) return control.initial
    const part = (one: () => Control): unknown => this.of(one(), [...above, control])
    switch (control.kind) {
      case 'fixed':
        return control.value
      case 'choice':
        return control.options[0]?.value
      case 'object':
        return Object.fromEntries(neededOf(control.fields).map((field) => [field.name, part(field.control)]))
      case 'list':
        return control.min > 0 ? [part(control.item)] : []
      case 'tuple':
        return control.items.map(part)
      case 'checkboxes':
        return []
      case 'record':
        return {}
      case 'nullable':
        return endsWithin(control.inner, above) ? part(control.inner) : null
      case 'union': {
        // An alternative that contains itself has no end.
        const ending = control.variants.find((variant) => endsWithin(variant.control, above))
        const chosen = ending ?? control.variants[0]
        return chosen === undefined ? '...' : part(chosen.control)
      }
      case 'number':
        return control.min ?? 1
      case 'boolean':
        return true
      case 'text':
      case 'date':
      case 'time':
      case 'date-time':
      case 'marked':
      case 'json':
        return '...'
    }
  }
}

function endsWithin(control: () => Control, above: readonly Control[]): boolean {
  const { schema } = control()
  return schema === undefined || !above.some((one) => one.schema === schema)
}

/** Names what a value of a schema needs: the required fields of an object, or else its type. */
export function describeNeeds(schema: unknown): string {
  if (schema === undefined) return ''
  const control = controlOf(schema)
  if (control.kind !== 'object') return typeOf(control)
  return neededOf(control.fields)
    .map(({ name, control: part }) => `${name} (${typeOf(part())})`)
    .join(', ')
}

/** Callers may omit a property with a default. */
function neededOf(fields: readonly Field[]): readonly Field[] {
  return fields.filter(({ isRequired, control }) => isRequired && control().initial === undefined)
}

/** Maximum depth of alternatives within alternatives: a schema can contain itself. */
const maxAlternatives = 3

function typeOf(control: Control, depth = 0): string {
  switch (control.kind) {
    case 'fixed':
      return JSON.stringify(control.value)
    case 'choice':
      return control.options.map(({ value }) => JSON.stringify(value)).join(' or ')
    case 'nullable':
      return depth > maxAlternatives ? 'any value' : `${typeOf(control.inner(), depth + 1)} or null`
    case 'union':
      return depth > maxAlternatives
        ? 'any value'
        : [...new Set(control.variants.map((variant) => typeOf(variant.control(), depth + 1)))].join(' or ')
    case 'number':
      return control.isInteger ? 'integer' : 'number'
    case 'boolean':
      return 'boolean'
    case 'object':
    case 'record':
    case 'marked':
      return 'object'
    case 'list':
    case 'tuple':
    case 'checkboxes':
      return 'array'
    case 'text':
    case 'date':
    case 'time':
    case 'date-time':
      return 'string'
    case 'json':
      return typesOf(control.schema?.['type'])
  }
}

function typesOf(type: unknown): string {
  const types = [type].flat().filter((one) => typeof one === 'string')
  return types.length === 0 ? 'any value' : types.join(' or ')
}
