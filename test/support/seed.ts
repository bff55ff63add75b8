/** Of this process; SEED brings one back. Tests say it in their names. */
export const seed: number = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31))
