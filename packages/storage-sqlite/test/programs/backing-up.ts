// Copies a store, and writes the code and the message of the error: `backing-up <file> <target>`.
import { PawlError } from '@pawl/core/storage'
import { driver } from '../../../../test/support/sqlite.ts'
import { backUp } from '../../src/backup.ts'

const [, , file = '', target = ''] = process.argv
try {
  await backUp(file, target, { driver })
} catch (error) {
  console.log(PawlError.is(error) ? error.code : 'unexpected')
  console.log((error as Error).message)
}
