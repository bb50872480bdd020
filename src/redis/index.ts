export type { BudgetLimits, RateBudgetStore, StoreAnswer } from '../core/limit/rate-store.js';
export type { JournalItem, JournalPage, JournalStore } from '../core/once/journal.js';
export type { RedisClient } from './client.js';
export { redisJournal, type RedisJournalOptions } from './journal.js';
export { redisRateBudget, type RedisBudgetOptions } from './rate-budget.js';
