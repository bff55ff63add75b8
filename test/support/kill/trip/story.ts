import type { Story } from '../siege.ts'
import { checkTrips } from './check-trips.ts'
import { driveTrips } from './drive-trips.ts'

/** A siege of runs that race, map, shield, are cancelled and are rolled back. */
export const trips: Story = { drive: driveTrips, check: checkTrips }
