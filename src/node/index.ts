export type { BudgetLimits, RateBudgetStore, StoreAnswer } from '../core/limit/rate-store.js';
export type { JournalItem, JournalPage, JournalStore } from '../core/once/journal.js';
export { dnsRecords, dnsTable, dnsZone, type DnsRecord } from './dns-records.js';
export {
  attachment,
  csvFile,
  imageFile,
  type AttachedFile,
  type AttachmentFields,
} from './files.js';
export { fileJournal } from './journal/file-journal.js';
export { fileRateBudgetStore } from './rate-budget.js';
export { saveTo, type SaveEach, type SaveOptions } from './download/save-to.js';
