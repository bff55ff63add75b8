export type { Doubles } from './doubles.ts'
export { type MemoryOptions, memory } from './memory-store.ts'
export type { Person } from './people.ts'
export { type TestEngine, type TestEngineOptions, testEngine } from './test-engine.ts'
