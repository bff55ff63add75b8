import { askRoutes } from './asks.ts'
import { checkpointRoutes } from './checkpoints.ts'
import { documentRoute } from './document.ts'
import { exportRoutes } from './exports.ts'
import { hookRoutes } from './hooks.ts'
import { linkRoutes } from './links.ts'
import { meRoutes } from './me.ts'
import { noticeRoutes } from './notices.ts'
import { repeatRoutes } from './repeats.ts'
import type { Route } from './route.ts'
import { runActionRoutes } from './run-actions.ts'
import { runRoutes } from './runs.ts'
import { streamRoutes } from './streams.ts'
import { talkRoutes } from './talk.ts'
import { workerRoutes } from './workers.ts'

/** Every route below `/v1`. */
export const routes: readonly Route[] = [
  ...meRoutes,
  ...askRoutes,
  ...linkRoutes,
  ...runRoutes,
  ...runActionRoutes,
  ...repeatRoutes,
  ...exportRoutes,
  ...talkRoutes,
  ...checkpointRoutes,
  ...noticeRoutes,
  ...workerRoutes,
  ...streamRoutes,
  ...hookRoutes,
  documentRoute(() => routes),
]
