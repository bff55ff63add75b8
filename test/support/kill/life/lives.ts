/** What the run of programs/life-worker.ts hears, one in each of its generations. */
export const lives = [1, 2, 3] as const

/** That of the life that begins again. */
export const lastGeneration = lives.length + 1
