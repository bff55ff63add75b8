// Backups and a check without a change, for the command line, and the connections of the drivers, for tests and tools of this repository. Not public; may change
// at any time.

export { type Backup, type BackupOptions, backUp } from './backup.ts'
export type { Database } from './connection/database.ts'
export type { SqliteDriver } from './connection/driver.ts'
export { type DatabaseSync, NodeDatabase, type NodeSqlite } from './connection/node-database.ts'
export { findNodeSqlite } from './connection/node-sqlite.ts'
export { isSettled } from './settled.ts'
