export { PostgresServer } from '../../scripts/postgres/server.ts'
