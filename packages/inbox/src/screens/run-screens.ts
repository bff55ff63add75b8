export { RunScreen } from './run.tsx'
export { RunsScreen } from './runs.tsx'
