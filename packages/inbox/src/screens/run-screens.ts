import '../styles/run.css'

export { NoticesScreen } from './notices.tsx'
export { RunScreen } from './run.tsx'
export { RunsScreen } from './runs.tsx'
export { WorkersScreen } from './workers.tsx'
