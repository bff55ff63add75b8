import type { Checkpoint, RepeatPreview, Run } from '@pawl/server/internal'
import { segment } from './calls.ts'
import type { Fork } from './fork.ts'
import { request } from './request.ts'

// Calls of the dialog that retries and forks, which is loaded with the pages of runs.

export const previewRetry = (run: string): Promise<RepeatPreview> =>
  request('POST', `/v1/runs/${segment(run)}/retry/preview`, {})

/** Newest first. */
export const listCheckpoints = (run: string): Promise<{ readonly items: readonly Checkpoint[] }> =>
  request('GET', `/v1/runs/${segment(run)}/checkpoints`)
export const previewFork = (run: string, fork: Fork): Promise<RepeatPreview> =>
  request('POST', `/v1/runs/${segment(run)}/fork/preview`, fork)
/** Starts one fork for each key, however often it is sent. */
export const forkRun = (run: string, fork: Fork, key: string): Promise<Run> =>
  request('POST', `/v1/runs/${segment(run)}/fork`, fork, { 'idempotency-key': key })
