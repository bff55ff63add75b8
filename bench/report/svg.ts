/** A plot of lines or bars as SVG: enough for this bench, readable on light and dark pages. */
export interface Series {
  readonly name: string
  readonly points: readonly { readonly x: number; readonly y: number }[]
}

export interface Axis {
  readonly title: string
  readonly isLogarithmic?: boolean
  /** What stands at a tick. Default: the number. */
  readonly label?: (value: number) => string
}

export interface Bar {
  readonly name: string
  readonly value: number
  readonly label: string
}

const [width, height] = [720, 380]
const frame = { left: 80, right: 24, top: 56, bottom: 60 }
const [columns, rowHeight] = [3, 22]
const colours = ['#2563eb', '#d97706', '#059669', '#dc2626', '#7c3aed', '#0891b2', '#be185d', '#65a30d']

export function plotLines(title: string, x: Axis, y: Axis, series: readonly Series[]): string {
  const points = series.flatMap((one) => one.points)
  const across = scaleOf(
    x,
    points.map((point) => point.x),
    frame.left,
    width - frame.right,
  )
  const up = scaleOf(
    y,
    points.map((point) => point.y),
    height - frame.bottom,
    frame.top,
  )
  const lines = series.map(({ points: of }, i) => {
    const path = of
      .map((point) => `${across.place(point.x).toFixed(1)},${up.place(point.y).toFixed(1)}`)
      .join(' ')
    return `<polyline points="${path}" fill="none" stroke="${colourOf(i)}" stroke-width="2"/>`
  })
  const tall = height + Math.ceil(series.length / columns) * rowHeight
  const parts = [
    ...across.ticks.map(({ at, label }) => text(label, at, height - frame.bottom + 18, 'middle')),
    ...up.ticks.flatMap(({ at, label }) => [
      `<line x1="${frame.left}" x2="${width - frame.right}" y1="${at}" y2="${at}" stroke="#8884"/>`,
      text(label, frame.left - 8, at + 4, 'end'),
    ]),
    text(x.title, (frame.left + width - frame.right) / 2, height - frame.bottom + 40, 'middle'),
    text(y.title, frame.left, frame.top - 10, 'start'),
    ...lines,
    ...legend(series.map(({ name }) => name)),
  ]
  return draw(title, parts, tall)
}

/** Bars on a logarithmic scale that begins at a power of ten. */
export function plotBars(title: string, unit: string, bars: readonly Bar[]): string {
  const tall = frame.top + bars.length * 30 + 30
  const left = 230
  const logs = bars.map(({ value }) => Math.log10(value))
  const from = Math.floor(Math.min(...logs))
  const to = Math.max(from + 1, Math.ceil(Math.max(...logs)))
  const place = (value: number): number => ((Math.log10(value) - from) / (to - from)) * (width - left - 110)
  const rows = bars.flatMap(({ name, value, label }, i) => {
    const top = frame.top + i * 30
    return [
      text(name, left - 8, top + 15, 'end'),
      `<rect x="${left}" y="${top}" width="${place(value).toFixed(1)}" height="20" fill="${colourOf(i)}"/>`,
      text(label, left + place(value) + 6, top + 15, 'start'),
    ]
  })
  return draw(
    title,
    [...rows, text(`${unit}, logarithmic from ${10 ** from}`, left, tall - 8, 'start')],
    tall,
  )
}

interface Scale {
  place(value: number): number
  readonly ticks: readonly { readonly at: number; readonly label: string }[]
}

function scaleOf(axis: Axis, values: readonly number[], from: number, to: number): Scale {
  const change = axis.isLogarithmic === true ? Math.log10 : (value: number): number => value
  const inverse =
    axis.isLogarithmic === true ? (value: number): number => 10 ** value : (value: number): number => value
  const changed = values.map(change)
  const low = axis.isLogarithmic === true ? Math.floor(Math.min(...changed)) : 0
  const step = axis.isLogarithmic === true ? 1 : roundStep(Math.max(...changed) / 5)
  const count = Math.max(1, Math.ceil((Math.max(...changed) - low) / step - 1e-9))
  const high = low + count * step
  const place = (value: number): number => from + ((change(value) - low) / (high - low)) * (to - from)
  const label = axis.label ?? ((value: number): string => value.toLocaleString('en'))
  const ticks = Array.from({ length: count + 1 }, (_, i) => inverse(low + i * step))
  return { place, ticks: ticks.map((value) => ({ at: place(value), label: label(value) })) }
}

/** 1, 2 or 5 times a power of ten, not less than what is given. */
function roundStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least || 1))
  return ([1, 2, 5, 10].find((times) => times * power >= least) ?? 10) * power
}

function legend(names: readonly string[]): readonly string[] {
  const space = (width - frame.left) / columns
  return names.flatMap((name, i) => {
    const [x, y] = [frame.left + (i % columns) * space, height + Math.floor(i / columns) * rowHeight]
    return [
      `<rect x="${x.toFixed(1)}" y="${y - 10}" width="12" height="12" fill="${colourOf(i)}"/>`,
      text(name, x + 18, y, 'start'),
    ]
  })
}

function draw(title: string, parts: readonly string[], tall: number): string {
  const open = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${tall}" font-family="sans-serif" font-size="13" fill="#808080" role="img">`
  return [
    open,
    `<title>${escapeText(title)}</title>`,
    text(title, 12, 22, 'start', 15),
    ...parts,
    '</svg>',
    '',
  ].join('\n')
}

function text(content: string, x: number, y: number, anchor: string, size = 13): string {
  return `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="${anchor}" font-size="${size}">${escapeText(content)}</text>`
}

function escapeText(content: string): string {
  return content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

function colourOf(index: number): string {
  return colours[index % colours.length] as string
}
