import { storeConformance } from '@pawl/testing/conformance'
import { sqliteSubject } from './support/subject.ts'

storeConformance(sqliteSubject)
