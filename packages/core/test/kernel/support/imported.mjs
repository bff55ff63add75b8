export const imported = true
