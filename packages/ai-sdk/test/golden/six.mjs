// Makes `ai` mean AI SDK 6.
import { register } from 'node:module'

const hooks = `export function resolve(specifier, context, next) {
  return next(specifier.replace(/^ai(?=$|\\/)/, 'ai-6'), context)
}`
register(`data:text/javascript,${encodeURIComponent(hooks)}`)
