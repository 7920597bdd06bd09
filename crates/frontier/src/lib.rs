//! Which URL next, and when: workbench, politeness, budgets, traps. Pure policies.
