import { storeDifferential } from '@pawl/testing/conformance'
import { sqliteSubject } from './support/subject.ts'

storeDifferential(sqliteSubject, { streams: 10_000, length: 60, atLeast: 100, timeoutMs: 3_600_000 })
