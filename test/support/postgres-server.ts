export { PostgresServer, type ServerOptions, type StopMode } from '../../scripts/postgres/server.ts'
