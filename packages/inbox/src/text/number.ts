/** Up to these digits a number that was calculated has no trace of its binary form, such as 3.3000000000000003. */
const digits = 15

const inReadersForm = new Intl.NumberFormat(undefined, {
  useGrouping: false,
  maximumSignificantDigits: digits,
})

/** The decimal sign of the reader, `.` or `,`. */
const decimalSign =
  new Intl.NumberFormat(undefined).formatToParts(1.5).find(({ type }) => type === 'decimal')?.value ?? '.'

/** A number as the reader writes it. It is not grouped: it may be a year, or a part of an id. */
export function formatNumber(value: number): string {
  return Number.isInteger(value) ? String(value) : inReadersForm.format(value)
}

/** A number as JSON writes it, without what calculating in binary has added. */
export function plainNumber(value: number): string {
  return Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(digits)))
}

/** What a reader typed, with the decimal sign of JSON. */
export function withPoint(typed: string): string {
  return decimalSign === ',' && !typed.includes('.') ? typed.replace(',', '.') : typed
}

const inGroups = new Intl.NumberFormat(undefined, { maximumSignificantDigits: digits })

/** A number in groups of digits, which tells a decimal sign from a mark between groups. */
export function grouped(value: number): string {
  return inGroups.format(value)
}
