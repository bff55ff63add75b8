// Sets the clock of this process ahead, as if those days had passed. Imported before everything that reads the clock.
const aheadMs = Number(process.env['DEPLOY_DAYS'] ?? 0) * 24 * 60 * 60 * 1_000
const now = Date.now
Date.now = () => now() + aheadMs
