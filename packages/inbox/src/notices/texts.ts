// Loaded with the page of notices; the rest of the texts is in en.ts.

export const noticeTexts = {
  onlyUnread: 'Unread',
  none: 'No notices',
  noneUnread: 'All notices are read',
  unread: 'Unread',
  read: 'Mark as read',
  readAll: 'Mark all as read',
  older: 'Older notices',
} as const
