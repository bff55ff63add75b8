// The public API. Anything not exported here may change at any time.
export { answerInterruptions, type InterruptionOptions } from './approvals.ts'
export { durableModel, type ModelOptions } from './model.ts'
export { durableTool, idempotencyKeyOf, type ToolOptions } from './tool.ts'
