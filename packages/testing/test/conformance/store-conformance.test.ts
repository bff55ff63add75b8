import { memorySubject, storeConformance } from '@pawl/testing/conformance'

storeConformance(memorySubject)
