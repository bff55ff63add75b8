import type { Hono } from 'hono'
import { ServerError } from '../http/problem.ts'
import type { Settings } from '../options.ts'
import { bestForm, type InboxFiles, readInbox } from './assets.ts'

/** Serves the page of the inbox and what it loads. They hold no data, so they need no login. */
export function serveInbox(app: Hono, { basePath }: Settings): void {
  let files: Promise<InboxFiles | null> | undefined
  const load = async (): Promise<InboxFiles> => {
    files ??= readInbox()
    const found = await files
    if (found !== null) return found
    files = undefined
    throw new ServerError(
      'not-found',
      'The inbox is not built. Run `npm run build` in the repository of Pawl.',
    )
  }
  app.get('/', async () => {
    const { page } = await load()
    return new Response(placed(page, basePath), {
      headers: { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-cache' },
    })
  })
  app.get('/assets/:name', async ({ req }) => {
    const asset = (await load()).assets.get(req.param('name'))
    if (asset === undefined) throw new ServerError('not-found', 'There is no such file of the inbox.')
    const { body, encoding } = bestForm(asset, req.header('accept-encoding'))
    return new Response(body, {
      headers: {
        'content-type': asset.type,
        ...(encoding === undefined ? {} : { 'content-encoding': encoding }),
        vary: 'Accept-Encoding',
        // The name has a hash of the content.
        'cache-control': 'public, max-age=31536000, immutable',
      },
    })
  })
}

/** Tells the page below which path it is mounted: the URL in the browser may lack its last slash. */
function placed(page: string, basePath: string): string {
  const base = basePath === '/' ? '' : basePath
  return page
    .replaceAll('"./assets/', `"${base}/assets/`)
    .replace('<head>', `<head>\n    <meta name="pawl-base" content="${base}">`)
}
