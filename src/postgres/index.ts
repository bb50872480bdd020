export type { BudgetLimits, RateBudgetStore, StoreAnswer } from '../core/limit/rate-store.js';
export type { JournalItem, JournalPage, JournalStore } from '../core/once/journal.js';
export type { PostgresClient } from './client.js';
export { postgresJournal, type PostgresJournalOptions } from './journal.js';
export { migratePostgres, postgresMigration } from './migration.js';
export { postgresRateBudget } from './rate-budget.js';
