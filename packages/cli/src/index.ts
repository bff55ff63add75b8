// Everything a user may import. What is not listed here may change at any time.
export { type Config, defineConfig } from './config/define.ts'
