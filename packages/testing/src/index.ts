export { type MemoryOptions, memory } from './memory-store.ts'
