import { askRoutes } from './asks.ts'
import { documentRoute } from './document.ts'
import { meRoutes } from './me.ts'
import type { Route } from './route.ts'
import { runRoutes } from './runs.ts'

/** Every route below `/v1`. */
export const routes: readonly Route[] = [...meRoutes, ...askRoutes, ...runRoutes, documentRoute(() => routes)]
