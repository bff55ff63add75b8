/*
** A VFS of SQLite that writes down what the one beneath it is asked to do to files: opened, written, truncated,
** synced. With that a test can make up every state a disk may be in when the power goes.
**
** A record is 16 bytes, then `size` bytes of data: kind, file, two unused, u32 size, i64 offset, all in the order of
** the machine. `file` numbers what is open, and the data of OPEN is its name. The journal is $PAWL_TRACE.
*/
#include "sqlite3ext.h"
SQLITE_EXTENSION_INIT1
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum { OPEN = 1, WRITE = 2, TRUNCATE = 3, SYNC = 4 };

typedef struct TraceFile {
  sqlite3_file base;
  sqlite3_file *real;
  uint8_t number;
} TraceFile;

static sqlite3_vfs *beneath;
static int journal = -1;
static uint8_t opened = 0;

static void note(uint8_t kind, uint8_t file, int64_t offset, const void *data, uint32_t size) {
  uint8_t head[16] = {kind, file, 0, 0};
  struct iovec parts[2] = {{head, sizeof head}, {(void *)data, size}};
  memcpy(head + 4, &size, 4);
  memcpy(head + 8, &offset, 8);
  if (writev(journal, parts, size > 0 ? 2 : 1) != (ssize_t)(sizeof head + size)) abort();
}

#define REAL(file) (((TraceFile *)(file))->real)
#define NUMBER(file) (((TraceFile *)(file))->number)

static int traceClose(sqlite3_file *f) { return REAL(f)->pMethods->xClose(REAL(f)); }
static int traceRead(sqlite3_file *f, void *to, int size, sqlite3_int64 at) {
  return REAL(f)->pMethods->xRead(REAL(f), to, size, at);
}
static int traceWrite(sqlite3_file *f, const void *from, int size, sqlite3_int64 at) {
  note(WRITE, NUMBER(f), at, from, (uint32_t)size);
  return REAL(f)->pMethods->xWrite(REAL(f), from, size, at);
}
static int traceTruncate(sqlite3_file *f, sqlite3_int64 size) {
  note(TRUNCATE, NUMBER(f), size, 0, 0);
  return REAL(f)->pMethods->xTruncate(REAL(f), size);
}
static int traceSync(sqlite3_file *f, int flags) {
  int result = REAL(f)->pMethods->xSync(REAL(f), flags);
  /* Only what was reported as synced is. */
  if (result == SQLITE_OK) note(SYNC, NUMBER(f), 0, 0, 0);
  return result;
}
static int traceFileSize(sqlite3_file *f, sqlite3_int64 *size) {
  return REAL(f)->pMethods->xFileSize(REAL(f), size);
}
static int traceLock(sqlite3_file *f, int level) { return REAL(f)->pMethods->xLock(REAL(f), level); }
static int traceUnlock(sqlite3_file *f, int level) { return REAL(f)->pMethods->xUnlock(REAL(f), level); }
static int traceCheckReservedLock(sqlite3_file *f, int *held) {
  return REAL(f)->pMethods->xCheckReservedLock(REAL(f), held);
}
static int traceFileControl(sqlite3_file *f, int what, void *argument) {
  return REAL(f)->pMethods->xFileControl(REAL(f), what, argument);
}
static int traceSectorSize(sqlite3_file *f) { return REAL(f)->pMethods->xSectorSize(REAL(f)); }
static int traceDeviceCharacteristics(sqlite3_file *f) {
  return REAL(f)->pMethods->xDeviceCharacteristics(REAL(f));
}
static int traceShmMap(sqlite3_file *f, int page, int size, int extend, void volatile **memory) {
  return REAL(f)->pMethods->xShmMap(REAL(f), page, size, extend, memory);
}
static int traceShmLock(sqlite3_file *f, int offset, int count, int flags) {
  return REAL(f)->pMethods->xShmLock(REAL(f), offset, count, flags);
}
static void traceShmBarrier(sqlite3_file *f) { REAL(f)->pMethods->xShmBarrier(REAL(f)); }
static int traceShmUnmap(sqlite3_file *f, int remove) { return REAL(f)->pMethods->xShmUnmap(REAL(f), remove); }

/* Version 2: without memory-mapped reading and writing, which would go past this VFS. */
static const sqlite3_io_methods methods = {
    2,           traceClose,          traceRead,        traceWrite,      traceTruncate,
    traceSync,   traceFileSize,       traceLock,        traceUnlock,     traceCheckReservedLock,
    traceFileControl, traceSectorSize, traceDeviceCharacteristics, traceShmMap, traceShmLock,
    traceShmBarrier,  traceShmUnmap,   0,                0};

static int traceOpen(sqlite3_vfs *vfs, sqlite3_filename name, sqlite3_file *f, int flags, int *outFlags) {
  TraceFile *file = (TraceFile *)f;
  int result;
  file->base.pMethods = 0;
  file->real = (sqlite3_file *)(file + 1);
  file->number = ++opened;
  result = beneath->xOpen(beneath, name, file->real, flags, outFlags);
  if (file->real->pMethods) file->base.pMethods = &methods;
  if (result == SQLITE_OK && name) note(OPEN, file->number, 0, name, (uint32_t)strlen(name));
  return result;
}

int sqlite3_tracevfs_init(sqlite3 *database, char **message, const sqlite3_api_routines *api) {
  static sqlite3_vfs vfs;
  const char *path = getenv("PAWL_TRACE");
  SQLITE_EXTENSION_INIT2(api);
  if (!path || (journal = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600)) < 0) return SQLITE_ERROR;
  beneath = sqlite3_vfs_find(0);
  vfs = *beneath;
  vfs.zName = "trace";
  vfs.szOsFile = (int)sizeof(TraceFile) + beneath->szOsFile;
  vfs.xOpen = traceOpen;
  sqlite3_vfs_register(&vfs, 1);
  return SQLITE_OK_LOAD_PERMANENTLY;
}
