import { describe, expect, test } from 'vitest'
import { findSoak, putSoak, tellSoak } from '../../bench/report/soak.ts'
import { assess, diskPerRun, type Sample } from '../../bench/soak/verdict.ts'

/** 30 minutes of 300 runs a second, a sample every 15 seconds, with the jitter of a collected heap. */
function soak(differ: (sample: Sample) => Partial<Sample> = () => ({})): readonly Sample[] {
  return Array.from({ length: 120 }, (_, i) => {
    const minute = i / 4
    const jitter = ((i * 7) % 11) / 11 - 0.5
    const calm: Sample = {
      minute,
      runs: minute * 60 * 300,
      heapMb: 20 + jitter * 0.4,
      residentMb: 120 + jitter * 10,
      handles: 30 + (i % 10 === 0 ? 1 : 0),
      databaseMb: minute * 20,
      walMb: 4 + jitter,
    }
    return { ...calm, ...differ(calm) }
  })
}

function failures(samples: readonly Sample[]): readonly string[] {
  return assess(samples)
    .filter(({ isGood }) => !isGood)
    .map(({ what }) => what)
}

describe('the verdict on a soak', () => {
  test('is good where nothing but the database grows', () => {
    expect(failures(soak())).toEqual([])
  })

  test('is good where memory grows while code is compiled and caches fill', () => {
    const warm = ({ minute }: Sample): number => Math.min(minute, 9) * 5
    const samples = soak((calm) => ({
      heapMb: calm.heapMb + warm(calm),
      residentMb: calm.residentMb + 4 * warm(calm),
      handles: calm.handles + Math.min(8, Math.floor(calm.minute)),
    }))
    expect(failures(samples)).toEqual([])
  })

  test('is bad where ten bytes of each run stay on the heap', () => {
    expect(failures(soak((calm) => ({ heapMb: calm.heapMb + (calm.runs * 10) / 2 ** 20 })))).toEqual(['heap'])
  })

  test('is bad where a hundred bytes of each run stay outside of the heap', () => {
    const samples = soak((calm) => ({ residentMb: calm.residentMb + (calm.runs * 100) / 2 ** 20 }))
    expect(failures(samples)).toEqual(['resident memory'])
  })

  test('is bad where a handle more is open every five minutes', () => {
    const samples = soak((calm) => ({ handles: calm.handles + Math.floor(calm.minute / 5) }))
    expect(failures(samples)).toEqual(['handles'])
  })

  test('is bad where too little was seen to tell', () => {
    expect(failures(soak().slice(0, 1))).toEqual(['heap', 'resident memory', 'handles'])
    expect(failures([])).toEqual(['heap', 'resident memory', 'handles'])
  })
})

describe('the page on a soak', () => {
  const machine = { cores: 2, processor: 'any', memoryGb: 8, system: 'linux x64', node: 'v20', load: 0 }
  const tell = (samples: readonly Sample[]): string =>
    tellSoak({
      date: '2026-01-02T03:04:05.000Z',
      command: 'npm run bench:soak',
      machine,
      minutes: 30,
      stores: [{ kind: 'sqlite', samples, growths: assess(samples) }],
    })

  test('has its date, its command and what the database takes for a run', () => {
    const page = tell(soak())
    expect(page).toContain('Measured on 2026-01-02 with `npm run bench:soak`')
    expect(diskPerRun(soak())).toBeCloseTo((20 * 2 ** 20) / (60 * 300))
    expect(page).toContain('1,165 B')
    expect(page).not.toContain('not met')
  })

  test('says what has grown too much', () => {
    const page = tell(soak((calm) => ({ handles: calm.handles + Math.floor(calm.minute) })))
    expect(page.match(/not met/g)).toHaveLength(1)
  })

  test('is put before its last section, and later in place of itself', () => {
    const bare = '# Performance\n\n## SQLite\n\nfast\n\n## How it is measured\n\nwith care\n'
    expect(findSoak(bare)).toBeNull()
    const first = tell(soak())
    const page = putSoak(bare, first)
    expect(page).toBe(bare.replace('## How', () => `${first}\n\n## How`))
    expect(findSoak(page)).toBe(first)
    // What stands for a match in a replacement is text here.
    const second = `${tell(soak((calm) => ({ handles: calm.handles + Math.floor(calm.minute) })))} $&`
    expect(putSoak(page, second)).toBe(bare.replace('## How', () => `${second}\n\n## How`))
  })
})
