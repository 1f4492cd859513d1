# Builds the shop.
CC ?= gcc
FLAGS := -O2 -Wall
export PATH

define banner
@echo shop
endef

ifeq ($(DEBUG),1)
FLAGS += -g
else
FLAGS += -DNDEBUG
endif

.PHONY: all clean

# Everything.
all: shop test

shop: shop.o item.o
	$(CC) $(FLAGS) -o $@ $^

%.o: %.c
	$(CC) $(FLAGS) -c $<

## Runs the tests.
test:
	@$(MAKE) -C tests
	$(call banner)

clean: ; rm -f *.o
include rules.mk
