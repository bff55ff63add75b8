/** A plot of lines or bars as SVG: enough for this bench. It brings its background along, as pages may be dark. */
export interface Series {
  readonly name: string
  readonly points: readonly { readonly x: number; readonly y: number }[]
  /** Lines of one group have one colour. Default: none has. */
  readonly group?: string
  readonly isDashed?: boolean
}

export interface Axis {
  readonly title: string
  readonly isLogarithmic?: boolean
  /** Where its marks are, the first and the last at its ends. Default: round numbers around all values. */
  readonly ticks?: readonly number[]
  /** What stands at a mark. Default: the number. */
  readonly label?: (value: number) => string
}

export interface Bar {
  /** Of whom it tells: neighbours with the same name stand together. */
  readonly name: string
  /** What it tells of them: one colour each. */
  readonly kind: string
  readonly value: number
  readonly label: string
}

const width = 720
const frame = { left: 72, right: 44, top: 68, bottom: 64, height: 260 }
const rowHeight = 22
const colours = ['#2563eb', '#c2410c', '#047857', '#7c3aed', '#be185d', '#0e7490', '#4d7c0f', '#57534e']
const [ink, faint, paper] = ['#1f2328', '#d1d9e0', '#ffffff']
const [columns, legendLeft] = [2, 72]

export function plotLines(title: string, x: Axis, y: Axis, series: readonly Series[]): string {
  const points = series.flatMap((one) => one.points)
  const bottom = frame.top + frame.height
  const across = scaleOf(
    x,
    points.map((point) => point.x),
    frame.left,
    width - frame.right,
  )
  const up = scaleOf(
    y,
    points.map((point) => point.y),
    bottom,
    frame.top,
  )
  const colourOf = chooseColours(series.map(({ group, name }) => group ?? name))
  const entries = series.map(({ name, group, isDashed }) => ({
    name,
    stroke: strokeOf(colourOf(group ?? name), isDashed),
  }))
  const lines = series.flatMap(({ name, group, points: of, isDashed }) => {
    const places = of.map(
      (point) => [across.place(point.x).toFixed(1), up.place(point.y).toFixed(1)] as const,
    )
    const colour = colourOf(group ?? name)
    return [
      `<polyline points="${places.map((place) => place.join(',')).join(' ')}" fill="none" ${strokeOf(colour, isDashed)}/>`,
      ...places.map(([cx, cy]) => `<circle cx="${cx}" cy="${cy}" r="3" fill="${colour}"/>`),
    ]
  })
  const parts = [
    ...across.ticks.flatMap(({ at, label }) => [
      line(at, frame.top, at, bottom),
      text(label, at, bottom + 18, 'middle'),
    ]),
    ...up.ticks.flatMap(({ at, label }) => [
      line(frame.left, at, width - frame.right, at),
      text(label, frame.left - 8, at + 4, 'end'),
    ]),
    text(x.title, (frame.left + width - frame.right) / 2, bottom + 40, 'middle'),
    text(y.title, 12, frame.top - 18, 'start'),
    ...lines,
    ...drawLegend(entries, bottom + frame.bottom + 12),
  ]
  return draw(title, parts, bottom + frame.bottom + Math.ceil(series.length / columns) * rowHeight + 8)
}

/** Bars on a logarithmic scale that begins at a power of ten. */
export function plotBars(title: string, unit: string, bars: readonly Bar[]): string {
  const [left, right, thick] = [170, 70, 16]
  const [top, gap] = [84, 12]
  const logs = bars.map(({ value }) => Math.log10(value))
  const from = Math.floor(Math.min(...logs))
  const to = Math.max(from + 1, Math.ceil(Math.max(...logs)))
  const place = (log: number): number => left + ((log - from) / (to - from)) * (width - left - right)
  const colourOf = chooseColours(bars.map(({ kind }) => kind))
  let next = top
  const rows = bars.flatMap(({ name, kind, value, label }, i) => {
    const isFirst = bars[i - 1]?.name !== name
    if (isFirst && i > 0) next += gap
    const y = next
    next += thick + 2
    const size = bars.filter((bar) => bar.name === name).length
    const end = place(Math.log10(value))
    return [
      ...(isFirst ? [text(name, left - 10, y + (size * (thick + 2)) / 2 + 4, 'end')] : []),
      `<rect x="${left}" y="${y}" width="${(end - left).toFixed(1)}" height="${thick}" fill="${colourOf(kind)}"/>`,
      // Not crossed by the lines behind it.
      `<g stroke="${paper}" stroke-width="3" paint-order="stroke">${text(label, end + 6, y + 13, 'start')}</g>`,
    ]
  })
  const bottom = next + 4
  const ticks = Array.from({ length: to - from + 1 }, (_, i) => from + i)
  const kinds = [...new Set(bars.map(({ kind }) => kind))]
  const parts = [
    ...ticks.flatMap((log) => [
      line(place(log), top - 6, place(log), bottom),
      text((10 ** log).toLocaleString('en'), place(log), bottom + 18, 'middle'),
    ]),
    text(`${unit}, on a logarithmic scale`, (left + width - right) / 2, bottom + 40, 'middle'),
    ...kinds.flatMap((kind, i) => [
      `<rect x="${12 + i * 230}" y="${44}" width="12" height="12" fill="${colourOf(kind)}"/>`,
      text(kind, 30 + i * 230, 55, 'start'),
    ]),
    ...rows,
  ]
  return draw(title, parts, bottom + 52)
}

interface Scale {
  place(value: number): number
  readonly ticks: readonly { readonly at: number; readonly label: string }[]
}

function scaleOf(axis: Axis, values: readonly number[], from: number, to: number): Scale {
  const change = axis.isLogarithmic === true ? Math.log10 : (value: number): number => value
  const ticks =
    axis.ticks ?? (axis.isLogarithmic === true ? roundPowers(values) : roundNumbers(Math.max(...values)))
  const [low, high] = [change(ticks[0] ?? 0), change(ticks.at(-1) ?? 1)]
  const place = (value: number): number => from + ((change(value) - low) / (high - low)) * (to - from)
  const label = axis.label ?? ((value: number): string => value.toLocaleString('en'))
  return { place, ticks: ticks.map((value) => ({ at: place(value), label: label(value) })) }
}

/** From zero in even steps. */
function roundNumbers(max: number): readonly number[] {
  const power = 10 ** Math.floor(Math.log10(max / 5 || 1))
  const step = ([1, 2, 5, 10].find((times) => times * power >= max / 5) ?? 10) * power
  return Array.from({ length: Math.max(1, Math.ceil(max / step - 1e-9)) + 1 }, (_, i) => i * step)
}

/** 1, 2 or 5 times a power of ten around all values; where that is too many, powers of ten alone. */
function roundPowers(values: readonly number[]): readonly number[] {
  const [min, max] = [Math.min(...values), Math.max(...values)]
  const from = Math.floor(Math.log10(min))
  const powers = Array.from({ length: Math.ceil(Math.log10(max)) - from + 2 }, (_, i) => from + i)
  const around = (all: readonly number[]): readonly number[] => {
    const last = all.findIndex((value) => value >= max)
    return all.slice(
      all.findLastIndex((value) => value <= min),
      Math.max(last, 1) + 1,
    )
  }
  const fine = around(powers.flatMap((power) => [1, 2, 5].map((times) => Number(`${times}e${power}`))))
  return fine.length <= 9 ? fine : around(powers.map((power) => Number(`1e${power}`)))
}

function chooseColours(keys: readonly string[]): (key: string) => string {
  const all = [...new Set(keys)]
  return (key) => colours[all.indexOf(key) % colours.length] as string
}

function drawLegend(
  entries: readonly { readonly name: string; readonly stroke: string }[],
  top: number,
): readonly string[] {
  const space = (width - legendLeft) / columns
  const rows = Math.ceil(entries.length / columns)
  return entries.flatMap(({ name, stroke }, i) => {
    const [x, y] = [legendLeft + Math.floor(i / rows) * space, top + (i % rows) * rowHeight]
    return [`<path d="M${x} ${y - 4}h28" ${stroke}/>`, text(name, x + 36, y, 'start')]
  })
}

function strokeOf(colour: string, isDashed = false): string {
  return `stroke="${colour}" stroke-width="2"${isDashed ? ' stroke-dasharray="7 4"' : ''}`
}

function draw(title: string, parts: readonly string[], tall: number): string {
  const open = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${tall}" font-family="sans-serif" font-size="13" fill="${ink}" role="img">`
  return [
    open,
    `<title>${escapeText(title)}</title>`,
    `<rect width="${width}" height="${tall}" rx="6" fill="${paper}"/>`,
    text(title, 12, 26, 'start', 15),
    ...parts,
    '</svg>',
    '',
  ].join('\n')
}

function line(x1: number, y1: number, x2: number, y2: number): string {
  const [a, b, c, d] = [x1, y1, x2, y2].map((value) => value.toFixed(1))
  return `<line x1="${a}" y1="${b}" x2="${c}" y2="${d}" stroke="${faint}"/>`
}

function text(content: string, x: number, y: number, anchor: string, size = 13): string {
  return `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="${anchor}" font-size="${size}">${escapeText(content)}</text>`
}

function escapeText(content: string): string {
  return content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
