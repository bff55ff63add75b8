import { segment } from './calls.ts'
import { request } from './request.ts'
import type { RepeatPreview } from './types.ts'

// Calls of the dialog that retries and forks, which is loaded with the pages of runs.

export const previewRetry = (run: string): Promise<RepeatPreview> =>
  request('POST', `/v1/runs/${segment(run)}/retry/preview`, {})
