import type { CommonFlags } from '../../context.ts'

/** The store, server and config named by flags. */
export function placesIn(words: readonly string[]): CommonFlags {
  const after = (flag: string): readonly string[] =>
    words.flatMap((word, at) => {
      if (word.startsWith(`${flag}=`)) return [word.slice(flag.length + 1)]
      return words[at - 1] === flag ? [word] : []
    })
  const procedures = after('--procedures')
  return {
    ...{
      store: after('--store').at(-1),
      server: after('--server').at(-1),
      token: after('--token').at(-1),
      config: after('--config').at(-1),
    },
    ...(procedures.length === 0 ? {} : { procedures }),
  }
}
