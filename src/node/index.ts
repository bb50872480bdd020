export type { BudgetLimits, RateBudgetStore, StoreAnswer } from '../contract/rate-budget-store.js';
export { csvFile } from './csv-file.js';
export { fileJournal } from './journal/file-journal.js';
export { fileRateBudgetStore } from './rate-budget/rate-budget-store.js';
export { saveTo, type SaveOptions, type SaveProgress } from './download/save-to.js';
