import { describe, expect, test } from 'vitest'
import { plotBars, plotLines } from '../../bench/report/svg.ts'

interface Box {
  readonly content: string
  readonly left: number
  readonly right: number
  readonly top: number
  readonly bottom: number
}

/** Where texts are, by a width that is generous for a sans-serif font. */
function textsOf(svg: string): readonly Box[] {
  const pattern = /<text x="([^"]+)" y="([^"]+)" text-anchor="(\w+)" font-size="(\d+)">([^<]*)</g
  return [...svg.matchAll(pattern)].map(([, x, y, anchor, size, content = '']) => {
    const wide = content.length * Number(size) * 0.56
    const left = Number(x) - (anchor === 'start' ? 0 : anchor === 'middle' ? wide / 2 : wide)
    return { content, left, right: left + wide, top: Number(y) - Number(size) * 0.75, bottom: Number(y) }
  })
}

function faultsOf(svg: string): readonly string[] {
  const [, width, height] = /viewBox="0 0 (\d+) (\d+)"/.exec(svg) ?? []
  const texts = textsOf(svg)
  const outside = texts.filter(
    ({ left, right, top, bottom }) =>
      left < 0 || right > Number(width) || top < 0 || bottom > Number(height) - 4,
  )
  const overlapping = texts.filter((one, i) =>
    texts
      .slice(i + 1)
      .some(
        (other) =>
          one.left < other.right &&
          other.left < one.right &&
          one.top < other.bottom &&
          other.top < one.bottom,
      ),
  )
  return [...outside, ...overlapping].map(({ content }) => content)
}

describe('the plots of the bench', () => {
  test('have all their labels inside and apart, with two stores and five peers', () => {
    const names = [
      'Pawl, SQLite',
      'Pawl, PostgreSQL',
      'DBOS',
      'openworkflow',
      'absurd',
      'Restate',
      'LangGraph',
    ]
    const kinds = ['W1: one after the other', 'W2: 200 runs at once', 'raw commits of one row']
    const bars = names.flatMap((name, i) =>
      kinds.map((kind, j) => ({ name, kind, value: 99_999 / 2 ** i / (j + 1), label: '99,999' })),
    )
    const svg = plotBars('Throughput', 'steps a second', bars)
    expect(faultsOf(svg)).toEqual([])
    expect(textsOf(svg)).toHaveLength(1 + 3 + names.length + bars.length + 4 + 1)
  })

  test('have all their labels inside and apart, with lines of every latency', () => {
    const series = ['SQLite', 'PostgreSQL'].flatMap((store) =>
      ['W4', 'W5', 'W5 answer', 'W5 other process'].map((name) => ({
        name: `${name}, ${store}`,
        group: name,
        points: [
          { x: 2, y: 0.52 },
          { x: 200, y: 19 },
        ],
      })),
    )
    const x = { title: 'so many', isLogarithmic: true, ticks: [2, 4, 10, 20, 50, 100, 200] }
    const svg = plotLines('Latency', x, { title: 'ms', isLogarithmic: true }, series)
    expect(faultsOf(svg)).toEqual([])
    expect(textsOf(svg).map(({ content }) => content)).toEqual(
      expect.arrayContaining(['0.5', '1', '2', '5', '10', '20']),
    )
  })

  test('have all their labels inside and apart, with the longest numbers', () => {
    const points = [1_000, 10_000, 100_000, 1_000_000].map((x) => ({ x, y: 9_900 }))
    const series = [{ name: 'SQLite', points }]
    const svg = plotLines('Replay', { title: 'events', isLogarithmic: true }, { title: 'ns' }, series)
    expect(faultsOf(svg)).toEqual([])
    expect(textsOf(svg).map(({ content }) => content)).toEqual(
      expect.arrayContaining(['0', '10,000', '1,000,000']),
    )
  })

  test('draw a bar twice as long for the square of a value, on their logarithmic scale', () => {
    const bars = [10, 100, 10_000].map((value) => ({ name: `${value}`, kind: 'raw', value, label: '' }))
    const svg = plotBars('Throughput', 'steps a second', bars)
    const widths = [...svg.matchAll(/<rect x="170" y="\d+" width="([\d.]+)"/g)].map(([, width]) =>
      Number(width),
    )
    expect(widths).toEqual([0, expect.closeTo(480 / 3, 0), 480])
  })

  test('place points where their values are, the larger to the right and above', () => {
    const points = [
      { x: 1, y: 0 },
      { x: 10, y: 50 },
      { x: 100, y: 100 },
    ]
    const x = { title: 'x', isLogarithmic: true, ticks: [1, 10, 100] }
    const svg = plotLines('Growth', x, { title: 'y', ticks: [0, 50, 100] }, [{ name: 'one', points }])
    const places = [...svg.matchAll(/<circle cx="([\d.]+)" cy="([\d.]+)"/g)].map(([, cx, cy]) => [
      Number(cx),
      Number(cy),
    ])
    const [[left, low], [middle, half], [right, high]] = places as [number[], number[], number[]]
    expect(right! - middle!).toBeCloseTo(middle! - left!, 0)
    expect(low! - half!).toBeCloseTo(half! - high!, 0)
    expect([right! > left!, high! < low!]).toEqual([true, true])
  })
})
