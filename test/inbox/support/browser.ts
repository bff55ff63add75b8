import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

/** Where Debian, and others, install Chromium. `CHROMIUM` names another place. */
const places = [process.env['CHROMIUM'], '/usr/bin/chromium', '/usr/bin/chromium-browser']

export const chromiumPath: string | undefined = places.find(
  (place) => place !== undefined && place !== '' && existsSync(place),
)

if (chromiumPath === undefined)
  console.warn(
    'The tests of the inbox in a browser are skipped: install chromium, or set CHROMIUM to its path.',
  )

/** Starts a browser with a profile of its own, which calls nothing by itself. */
export function launchBrowser(): Promise<Browser> {
  if (chromiumPath === undefined) throw new Error('Chromium is not installed.')
  return chromium.launch({
    executablePath: chromiumPath,
    headless: true,
    timeout: 0,
    args: [
      ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-dev-shm-usage'],
      ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
    ],
  })
}
