import { storeDifferential } from '@pawl/testing/conformance'
import { sqliteSubject } from './support/subject.ts'

storeDifferential(sqliteSubject)
