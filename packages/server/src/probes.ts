import type { Settings } from './options.ts'

/** The process answers. */
export function healthz(): Response {
  return Response.json({ status: 'ok' })
}

/** Ready if the store answers within 1 s. Public, so it reveals nothing else. */
export async function readyz({ probe }: Settings): Promise<Response> {
  const isReady = await Promise.race([
    probe().then(
      () => true,
      () => false,
    ),
    new Promise<boolean>((resolve) => setTimeout(resolve, 1000, false).unref()),
  ])
  return Response.json({ status: isReady ? 'ready' : 'unavailable' }, { status: isReady ? 200 : 503 })
}
