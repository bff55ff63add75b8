// Everything a user may import. What is not listed here may change at any time.
export type { LinkOptions } from '@pawl/core'
export type {
  Channel,
  ChannelAbilities,
  ChannelsOptions,
  Comment,
  DeliverCall,
  Delivered,
  NoticeCall,
  NoticeDelivery,
  Recipient,
  Sender,
  Submit,
  UpdateCall,
} from './channel.ts'
export { channels } from './channels.ts'
export { type FolderOptions, folder } from './folder/folder.ts'
export {
  type IncomingMail,
  type Mail,
  type Mailbox,
  type MailChannel,
  type MailOptions,
  mail,
} from './mail/mail.ts'
