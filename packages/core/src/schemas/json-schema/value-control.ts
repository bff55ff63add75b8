import type { Control } from './control.ts'
import { isJson } from './walk.ts'

/** Returns the control of a value without a schema: an edit keeps its type. */
export function controlOfValue(value: unknown): Control {
  switch (typeof value) {
    case 'string':
      return { kind: 'text', type: 'text', isLong: value.length > 120 || value.includes('\n') }
    case 'number':
      return { kind: 'number', isInteger: false }
    case 'boolean':
      return { kind: 'boolean' }
    default:
      return typeof value === 'object' && value !== null ? controlOfObject(value) : { kind: 'json' }
  }
}

function controlOfObject(value: object): Control {
  if (Array.isArray(value)) {
    const first: unknown = value[0]
    const isUniform = value.every((item) => typeof item === typeof first)
    if (first === undefined || !isUniform || typeof first === 'object') return { kind: 'json' }
    return { kind: 'list', item: () => controlOfValue(first), min: 0, max: Infinity }
  }
  if (isJson(value) && '$pawl' in value) {
    const { $pawl: type, value: text } = value
    const isText = (type === 'date' || type === 'bigint') && typeof text === 'string'
    return isText ? { kind: 'marked', type } : { kind: 'json' }
  }
  const fields = Object.entries(value).map(([name, part]) => ({
    name,
    isRequired: true,
    isOpened: true,
    control: () => controlOfValue(part),
  }))
  return { kind: 'object', fields }
}
