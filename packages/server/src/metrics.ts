import { readStoreHealth } from '@pawl/core/internal'
import { identify } from './auth/identify.ts'
import { admins, readers } from './auth/roles.ts'
import { ServerError } from './http/problem.ts'
import type { Shared } from './shared.ts'

/**
 * Writes the figures of the store and of this process in the text format of Prometheus. Closed like every other route: it
 * needs a login of a role that sees all, and role `admin` if `may` hides things from others.
 * @throws ServerError 'login-needed', 'not-allowed'
 */
export async function metrics(shared: Shared, request: Request): Promise<Response> {
  const { settings, replies, streams } = shared
  const identity = await identify(shared, request)
  shared.reads.take(identity.actor)
  const allowed = settings.may === undefined ? readers : admins
  if (!allowed.includes(identity.role))
    throw new ServerError(
      'not-allowed',
      `${identity.actor} has role ${identity.role}; this needs ${allowed.join(' or ')}.`,
    )
  const health = await readStoreHealth(settings.clientOf(identity))
  const text = [
    gauge('pawl_workers', 'Live workers.', health.workers),
    gauge('pawl_asks_open', 'Open asks, counted up to 1000.', health.openAsks),
    gauge('pawl_asks_overdue', 'Overdue asks, counted up to 1000.', health.overdueAsks),
    metric('pawl_runs_unhealthy', 'gauge', 'Runs that need a person, counted up to 1000 each.', [
      ['mark="stuck"', health.stuckRuns],
      ['mark="quarantined"', health.quarantinedRuns],
    ]),
    gauge(
      'pawl_runs_rollback_failed',
      'Runs with an undo that failed or did not run, counted up to 1000.',
      health.failedRollbacks,
    ),
    gauge('pawl_runs_due', 'Due runs without a worker, counted up to 1000 for each version.', health.dueRuns),
    gauge(
      'pawl_oldest_due_run_seconds',
      'How long the oldest of them has been due.',
      health.oldestDueMs / 1_000,
    ),
    metric('pawl_feed_events_total', 'counter', 'Number of the newest event of the feed.', [
      ['', health.feed],
    ]),
    gauge('pawl_http_streams', 'Open streams of this process.', streams.count),
    metric('pawl_http_replies_total', 'counter', 'Replies of this process.', replies.entries()),
  ].join('')
  return new Response(text, {
    headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8', 'cache-control': 'no-store' },
  })
}

function gauge(name: string, help: string, value: number): string {
  return metric(name, 'gauge', help, [['', value]])
}

function metric(
  name: string,
  type: 'gauge' | 'counter',
  help: string,
  values: readonly (readonly [labels: string, value: number])[],
): string {
  const lines = values.map(([labels, value]) => `${name}${labels === '' ? '' : `{${labels}}`} ${value}`)
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.map((line) => `${line}\n`).join('')}`
}
