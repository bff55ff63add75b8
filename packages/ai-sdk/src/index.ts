// The public API. Anything not exported here may change at any time.
export type { ApprovalOptions, ToolCall } from './approvals.ts'
export { type DownloadOptions, durableDownload } from './download.ts'
export { durableEmbeddingModel } from './embedding-model.ts'
export type { FileOptions, ModelFile } from './files.ts'
export { durableImageModel } from './image-model.ts'
export { durableModel, type LanguageModelOptions } from './language-model.ts'
export type { ModelCtx, ModelOptions } from './model-call.ts'
export { type DurableTools, durableTools, idempotencyKeyOf, type ToolCtx, type ToolOptions } from './tools.ts'
