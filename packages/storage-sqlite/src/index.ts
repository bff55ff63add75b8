export { sqlite } from './sqlite.ts'
